//! A picture as dots: an SVG drawn by resvg with a font of its own, so that it is the same everywhere. Must not know what it shows.

use anyhow::{Context, ensure};
use resvg::{
    tiny_skia::{Pixmap, Transform},
    usvg::{Options, Tree},
};

/// No picture is larger, in dots each way.
const MOST: f32 = 16_384.0;

/// Each unit of the picture so many dots.
pub(super) fn of_svg(svg: &str, scale: f32) -> anyhow::Result<Vec<u8>> {
    let mut options = Options::default();
    let fonts = options.fontdb_mut();
    fonts.load_font_data(dejavu::sans_condensed::regular().to_vec());
    let family = fonts.faces().next().and_then(|face| face.families.first()).map(|(name, _)| name.clone());
    let family = family.context("the font has a name")?;
    fonts.set_sans_serif_family(&family);
    options.font_family = family;
    let tree = Tree::from_str(svg, &options).context("cannot read the picture")?;
    let size = tree.size();
    let [width, height] = [size.width() * scale, size.height() * scale].map(f32::ceil);
    ensure!(
        width <= MOST && height <= MOST,
        "{width} x {height} dots are more than {MOST} each way; take a smaller --scale"
    );
    let mut dots = Pixmap::new(width as u32, height as u32).context("the picture has no size")?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut dots.as_mut());
    dots.encode_png().context("cannot write the picture")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_surfaces_leave_dots_of_their_colour() {
        let svg = "<svg xmlns='http://www.w3.org/2000/svg' class='pc' width='60' height='20' viewBox='0 0 60 20'><style>.pc text{\
                   fill:#ff0000;font-size:13px;font-family:Arial,sans-serif}.pc .f{fill:#00ff00}</style><rect class='f' width='10' \
                   height='20'/><text x='14' y='15'>Ägypt</text></svg>";
        let png = of_svg(svg, 2.0).expect("it is drawn");
        let dots = Pixmap::decode_png(&png).expect("it is a picture");
        assert_eq!((dots.width(), dots.height()), (120, 40));
        let of = |red: u8, green: u8| {
            dots.pixels().iter().filter(|dot| (dot.red(), dot.green(), dot.blue()) == (red, green, 0)).count()
        };
        assert!(of(255, 0) > 60 && of(0, 255) >= 790, "{} red and {} green", of(255, 0), of(0, 255));
    }
}
