// A tooltip for the mark under the pointer, or for the mark selected with the arrow keys.

class Tip {
  private readonly box = made("div", "tip");
  private marked: Element | undefined;
  private readonly ring = made("div", "ring");

  constructor() {
    this.box.setAttribute("role", "status");
    this.hide();
    document.body.append(this.ring, this.box);
  }

  show(reading: Reading | undefined): void {
    if (!reading) return this.hide();
    this.marked?.classList.remove("at");
    this.marked = reading.mark;
    this.marked?.classList.add("at");
    const lines = reading.lines.map(([value, what]) => {
      const line = made("div", "");
      line.append(made("strong", "", value), ` ${what}`);
      return line;
    });
    this.box.replaceChildren(...(reading.label ? [made("div", "faint", reading.label)] : []), ...lines);
    this.box.classList.remove("off");
    this.ring.classList.toggle("off", Boolean(reading.mark));
    this.move(this.ring, reading.x - 5, reading.y - 5);
    // Place the tooltip above the mark, or below if there is no room, and keep it inside the window.
    const { width, height } = this.box.getBoundingClientRect();
    const left = Math.min(Math.max(reading.x - width / 2, 4), document.documentElement.clientWidth - width - 4);
    const above = reading.y - height - 10;
    this.move(this.box, left, above < 4 ? reading.y + 18 : above);
  }

  hide(): void {
    this.marked?.classList.remove("at");
    this.box.classList.add("off");
    this.ring.classList.add("off");
  }

  private move(element: HTMLElement, left: number, top: number): void {
    element.style.left = `${left + window.scrollX}px`;
    element.style.top = `${top + window.scrollY}px`;
  }
}

function followPointer(picture: Picture, tip: Tip): void {
  const { svg } = picture;
  const at = (event: PointerEvent): void => tip.show(picture.nearest(event.clientX, event.clientY));
  svg.addEventListener("pointermove", at);
  svg.addEventListener("pointerdown", at);
  svg.addEventListener("pointerleave", (event) => {
    if (event.pointerType === "mouse") tip.hide();
  });
}

/** Arrow keys move between marks, Page Up and Page Down skip ten, and Home and End go to the first and last. */
function followKeys(picture: Picture, tip: Tip): void {
  const steps: Record<string, number> = {
    ArrowRight: 1,
    ArrowLeft: -1,
    PageDown: 10,
    PageUp: -10,
    Home: -Infinity,
    End: Infinity,
  };
  picture.svg.addEventListener("keydown", (event) => {
    const by = steps[event.key];
    if (event.key === "Escape") tip.hide();
    if (by === undefined || event.target !== picture.svg) return;
    event.preventDefault();
    tip.show(picture.step(by));
  });
  picture.svg.addEventListener("blur", () => tip.hide());
}
