//! Renders an SVG file as PNG with resvg. The font is embedded, so that the output is identical on every system.

use anyhow::{Context, ensure};
use resvg::{
    tiny_skia::{Pixmap, Transform},
    usvg::{Options, Tree},
};

const MOST: f32 = 16_384.0;

/// `scale` is the number of pixels per SVG unit.
pub(super) fn of_svg(svg: &str, scale: f32) -> anyhow::Result<Vec<u8>> {
    let mut options = Options::default();
    let fonts = options.fontdb_mut();
    fonts.load_font_data(dejavu::sans_condensed::regular().to_vec());
    let family = fonts.faces().next().and_then(|face| face.families.first()).map(|(name, _)| name.clone());
    let family = family.context("the font has a name")?;
    fonts.set_sans_serif_family(&family);
    options.font_family = family;
    let tree = Tree::from_str(svg, &options).context("cannot parse the chart")?;
    let size = tree.size();
    let [width, height] = [size.width() * scale, size.height() * scale].map(f32::ceil);
    ensure!(
        width <= MOST && height <= MOST,
        "an image of {width} x {height} pixels exceeds the maximum of {MOST} per dimension; use a smaller --scale"
    );
    let mut dots = Pixmap::new(width as u32, height as u32).context("the chart has a size")?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut dots.as_mut());
    dots.encode_png().context("cannot encode the chart")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn renders_text_and_shapes_in_their_colours() {
        let svg = "<svg xmlns='http://www.w3.org/2000/svg' class='pc' width='60' height='20' viewBox='0 0 60 20'><style>.pc text{\
                   fill:#ff0000;font-size:13px;font-family:Arial,sans-serif}.pc .f{fill:#00ff00}</style><rect class='f' width='10' \
                   height='20'/><text x='14' y='15'>Ägypt</text></svg>";
        let png = of_svg(svg, 2.0).expect("renders");
        let dots = Pixmap::decode_png(&png).expect("a valid PNG");
        assert_eq!((dots.width(), dots.height()), (120, 40));
        let of = |red: u8, green: u8| {
            dots.pixels().iter().filter(|dot| (dot.red(), dot.green(), dot.blue()) == (red, green, 0)).count()
        };
        assert!(of(255, 0) > 60 && of(0, 255) >= 790, "{} red and {} green", of(255, 0), of(0, 255));
    }
}
