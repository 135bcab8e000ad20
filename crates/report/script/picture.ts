// Finds the marks of a chart, their values, and the mark nearest to a position. Does not show them.

/** A mark's text, labels and screen position. */
interface Reading {
  label: string;
  lines: [value: string, what: string][];
  x: number;
  y: number;
  mark?: Element;
}

/** Maximum distance between the pointer and a mark, in pixels. */
const NEAR = 14;

function distance(box: DOMRect, x: number, y: number): { away: number; area: number; middle: number } {
  const away = Math.hypot(Math.max(box.left - x, x - box.right, 0), Math.max(box.top - y, y - box.bottom, 0));
  const middle = Math.hypot((box.left + box.right) / 2 - x, (box.top + box.bottom) / 2 - y);
  return { away, area: Math.round(box.width * box.height), middle };
}

class Picture {
  readonly fields: Field[];
  private place = -1;

  constructor(readonly svg: SVGSVGElement) {
    this.fields = all<SVGElement>(svg, "[data-box]").map((group) => new Field(group));
    // A chart with selectable parts is not a plain image.
    svg.setAttribute("role", "group");
    svg.setAttribute("tabindex", "0");
  }

  /** Returns the mark nearest to a screen position. */
  nearest(x: number, y: number): Reading | undefined {
    const near = this.marks().map((mark) => ({ mark, ...distance(mark.getBoundingClientRect(), x, y) }));
    // Among overlapping marks, prefer the smallest, then the closest.
    near.sort((a, b) => a.away - b.away || a.area - b.area || a.middle - b.middle);
    const [best] = near;
    if (best?.away === 0) return this.ofMark(best.mark);
    return this.nearestPoint(x, y) ?? (best && best.away < NEAR ? this.ofMark(best.mark) : undefined);
  }

  /** Returns the mark or point that is `by` steps after the current one. */
  step(by: number): Reading | undefined {
    const marks = this.marks();
    const points = this.fields.flatMap((field) => field.visible().map((point) => ({ field, point })));
    const count = marks.length + points.length;
    if (!count) return undefined;
    this.place = Math.min(Math.max(this.place + by, 0), count - 1);
    const mark = marks[this.place - points.length];
    const it = points[this.place];
    return it ? this.ofPoint(it.field, it.point) : mark && this.ofMark(mark);
  }

  /** Converts a screen position to a position in the chart. */
  inside(x: number, y: number): { x: number; y: number } {
    return new DOMPoint(x, y).matrixTransform(this.svg.getScreenCTM()?.inverse());
  }

  fieldAt(x: number, y: number): Field | undefined {
    const at = this.inside(x, y);
    return this.fields.find((field) => field.holds(at.x, at.y));
  }

  private marks(): Element[] {
    return all(this.svg, "[data-v]").filter((mark) => !mark.closest(".off"));
  }

  private nearestPoint(x: number, y: number): Reading | undefined {
    const field = this.fieldAt(x, y);
    if (!field) return undefined;
    const at = field.valueAt(this.inside(x, y).x);
    const away = (point: Point): number => Math.abs(point.at - at);
    const [first, ...others] = field.visible();
    const best = others.reduce((best, point) => (best && away(point) < away(best) ? point : best), first);
    return best && this.ofPoint(field, best);
  }

  private ofPoint(field: Field, point: Point): Reading {
    const place = new DOMPoint(field.placeOf(point.at), point.y).matrixTransform(
      this.svg.getScreenCTM() ?? undefined,
    );
    const lines: Reading["lines"] = [
      [point.value, field.group.dataset["y"] ?? ""],
      [short(point.at), field.title],
    ];
    return { label: this.labelOf(point.series), lines, x: place.x, y: place.y };
  }

  private ofMark(mark: Element): Reading {
    const box = mark.getBoundingClientRect();
    const of = (name: string): string => mark.closest(`[data-${name}]`)?.getAttribute(`data-${name}`) ?? "";
    const lines: Reading["lines"] = [[of("v"), of("y")]];
    if (mark.hasAttribute("data-u")) lines.push([of("u"), of("x")]);
    return { label: this.labelOf(mark), lines, x: (box.left + box.right) / 2, y: box.top, mark };
  }

  /** Returns the mark's row and legend label. */
  private labelOf(mark: Element): string {
    const row = mark.closest("[data-label]")?.getAttribute("data-label") ?? "";
    const series = mark.closest("[data-s]")?.getAttribute("data-s") ?? "";
    const key = this.svg.querySelector(`[data-k="${series}"]`)?.textContent?.trim() ?? "";
    return [row, key].filter((name) => name).join(", ");
  }
}
