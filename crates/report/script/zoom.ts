// Zooms a time series by dragging, with keys, or with the buttons below the chart. A double click shows the whole
// series.

/** Minimum length of a drag, in the chart's units. A shorter movement is a click. */
const DRAGGED = 6;

class Zoom {
  private readonly said = made("span", "");

  constructor(private readonly fields: Field[]) {}

  /** Scales the visible range by `size` and moves it by the fraction `by` of its length. */
  change(size: number, by = 0): void {
    for (const field of this.fields) {
      const [low, high] = field.range;
      const [middle, span] = [(low + high) / 2 + (high - low) * by, (high - low) * size];
      field.show(middle - span / 2, middle + span / 2);
    }
    this.say();
  }

  to(low: number, high: number): void {
    for (const field of this.fields) field.show(low, high);
    this.say();
  }

  controls(): HTMLElement {
    const box = made("span", "zoom");
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", "Visible range");
    const button = (text: string, name: string, act: () => void): void => {
      const button = made("button", "", text);
      button.type = "button";
      button.setAttribute("aria-label", name);
      button.title = name;
      button.addEventListener("click", act);
      box.append(button);
    };
    button("+", "Zoom in", () => this.change(0.5));
    button("−", "Zoom out", () => this.change(2));
    button("◂", "Earlier", () => this.change(1, -0.5));
    button("▸", "Later", () => this.change(1, 0.5));
    button("All", "Show all", () => this.to(-Infinity, Infinity));
    this.said.setAttribute("role", "status");
    box.append(this.said);
    return box;
  }

  private say(): void {
    const [field] = this.fields;
    if (!field) return;
    const [low, high] = field.range;
    this.said.textContent = field.isWhole ? "" : `${short(low)} to ${short(high)}: ${field.title}`;
  }
}

function makeZoom(figure: Element, pictures: Picture[], tip: Tip): void {
  const fields = pictures.flatMap((picture) => picture.fields);
  if (!fields.length) return;
  const zoom = new Zoom(fields);
  figure.querySelector("figcaption")?.append(zoom.controls());
  for (const picture of pictures) {
    drag(picture, zoom, tip);
    picture.svg.addEventListener("dblclick", () => zoom.to(-Infinity, Infinity));
    picture.svg.addEventListener("keydown", (event) => {
      if (event.key === "+") zoom.change(0.5);
      if (event.key === "-") zoom.change(2);
      if (event.key === "0") zoom.to(-Infinity, Infinity);
    });
  }
}

/** Only handles the mouse and the pen, because dragging with a finger scrolls the page. */
function drag(picture: Picture, zoom: Zoom, tip: Tip): void {
  const { svg } = picture;
  let begun: { field: Field; x: number } | undefined;
  svg.addEventListener("pointerdown", (event) => {
    const field = picture.fieldAt(event.clientX, event.clientY);
    if (!field || event.button !== 0 || event.pointerType === "touch") return;
    begun = { field, x: picture.inside(event.clientX, event.clientY).x };
    svg.setPointerCapture(event.pointerId);
    event.preventDefault();
    svg.focus({ preventScroll: true });
  });
  svg.addEventListener("pointermove", (event) => {
    if (begun) begun.field.select([begun.x, picture.inside(event.clientX, event.clientY).x]);
  });
  const end = (event: PointerEvent): void => {
    if (!begun) return;
    const { field, x } = begun;
    begun = undefined;
    field.select();
    const to = picture.inside(event.clientX, event.clientY).x;
    if (event.type === "pointercancel" || Math.abs(to - x) < DRAGGED) return;
    tip.hide();
    zoom.to(field.valueAt(Math.min(x, to)), field.valueAt(Math.max(x, to)));
  };
  svg.addEventListener("pointerup", end);
  svg.addEventListener("pointercancel", end);
}
