// A time-series plot, its points and its visible range. The plot is drawn once. Zooming stretches the drawing and
// redraws the axis labels.

interface Point {
  /** The position before any zooming, in the chart's units. */
  x: number;
  y: number;
  at: number;
  value: string;
  series: SVGElement;
}

class Field {
  readonly points: Point[];
  private readonly left: number;
  private readonly top: number;
  private readonly width: number;
  private readonly height: number;
  private readonly whole: [number, number];
  private readonly ticks: Element | null;
  private readonly tickNodes: Node[];
  private windows: SVGElement[] = [];
  private shown: [number, number];

  constructor(readonly group: SVGElement) {
    const [left = 0, top = 0, width = 1, height = 1] = numbers(group.dataset["box"]);
    const [low = 0, high = 1] = numbers(group.dataset["range"]);
    this.left = left;
    this.top = top;
    this.width = width;
    this.height = height;
    this.whole = [low, high];
    this.shown = [low, high];
    this.ticks = group.querySelector("[data-ticks]");
    this.tickNodes = [...(this.ticks?.childNodes ?? [])];
    this.points = all<SVGElement>(group, "[data-points]").flatMap((series) => this.pointsOf(series));
  }

  get range(): [number, number] {
    return this.shown;
  }

  get isWhole(): boolean {
    return this.shown[0] === this.whole[0] && this.shown[1] === this.whole[1];
  }

  get title(): string {
    return this.group.dataset["x"] ?? "";
  }

  holds(x: number, y: number): boolean {
    return x >= this.left && x <= this.left + this.width && y >= this.top && y <= this.top + this.height;
  }

  /** Returns the axis value at a position in the chart. */
  valueAt(x: number): number {
    const [low, high] = this.shown;
    return low + ((x - this.left) / this.width) * (high - low);
  }

  /** Returns the position of a value. */
  placeOf(value: number): number {
    const [low, high] = this.shown;
    return this.left + ((value - low) / (high - low)) * this.width;
  }

  /** Returns the visible points from left to right. */
  visible(): Point[] {
    const [low, high] = this.shown;
    return this.points.filter(
      (point) => point.at >= low && point.at <= high && !point.series.classList.contains("off"),
    );
  }

  /** Highlights the selection during a drag, or removes the highlight if `ends` is omitted. */
  select(ends?: [number, number]): void {
    this.group.querySelector(".selection")?.remove();
    if (!ends) return;
    const [from, to] = [Math.min(...ends), Math.max(...ends)];
    const size = { x: from, y: this.top, width: to - from, height: this.height };
    this.group.append(drawn("rect", { class: "selection", ...size }));
  }

  /** Shows a range of the plot, but at least a hundredth of the whole. */
  show(low: number, high: number): void {
    const [first, last] = this.whole;
    const span = Math.min(Math.max(high - low, (last - first) / 100), last - first);
    const from = Math.min(Math.max((low + high - span) / 2, first), last - span);
    this.shown = span === last - first ? [first, last] : [from, from + span];
    this.draw();
  }

  private draw(): void {
    const [first, last] = this.whole;
    const [low, high] = this.shown;
    const scale = this.width / (last - first);
    const [x, width] = [this.left + (low - first) * scale, (high - low) * scale];
    if (!this.windows.length) this.windows = this.makeWindows();
    // Leave a margin, so that lines along the edge are not clipped.
    for (const it of this.windows) it.setAttribute("viewBox", `${x} ${this.top - 2} ${width} ${this.height + 4}`);
    for (const label of all<SVGElement>(this.group, "[data-at]")) {
      const at = Number(label.dataset["at"]);
      const place = this.left + ((at - x) / width) * this.width;
      label.setAttribute("transform", `translate(${place - at} 0)`);
      label.classList.toggle("off", place < this.left || place > this.left + this.width);
    }
    this.ticks?.replaceChildren(...(this.isWhole ? this.tickNodes : this.newTicks()));
  }

  private makeWindows(): SVGElement[] {
    return all<SVGElement>(this.group, "[data-zoomed]").map((group) => {
      const size = { x: this.left, y: this.top - 2, width: this.width, height: this.height + 4 };
      const window = drawn("svg", { ...size, preserveAspectRatio: "none" });
      window.append(...group.childNodes);
      group.append(window);
      return window;
    });
  }

  private newTicks(): Element[] {
    const [low, high] = this.shown;
    const least = (high - low) / Math.max(this.width / 75, 2);
    const power = 10 ** Math.floor(Math.log10(least));
    const step = power * ([1, 2, 5].find((factor) => factor * power >= least) ?? 10);
    const ticks: Element[] = [];
    const bottom = this.top + this.height;
    for (let tick = Math.ceil(low / step); tick * step <= high; tick += 1) {
      const x = this.placeOf(tick * step);
      ticks.push(drawn("path", { class: "grid", d: `M${x} ${this.top}V${bottom}` }));
      // Labels do not fit at the ends of the axis.
      if (x < this.left + 12 || x > this.left + this.width - 12) continue;
      ticks.push(drawn("text", { class: "k", x, y: bottom + 13, "text-anchor": "middle" }, short(tick * step)));
    }
    return ticks;
  }

  private pointsOf(series: SVGElement): Point[] {
    const values = (series.dataset["points"] ?? "").split("|");
    const places = (series.querySelector("path")?.getAttribute("d") ?? "").split(/[ML]/).slice(1);
    // Positions are accurate to a tenth of a unit. Further digits would be meaningless.
    const digits = Math.max(Math.floor(-Math.log10((this.whole[1] - this.whole[0]) / this.width / 10)), 0);
    return places.map((place, index) => {
      const [x = 0, y = 0] = numbers(place);
      return { x, y, at: Number(this.valueAt(x).toFixed(digits)), value: values[index] ?? "", series };
    });
  }
}
