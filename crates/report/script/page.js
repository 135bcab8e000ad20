"use strict";
const SVG = "http://www.w3.org/2000/svg";
function drawn(name, attributes, text = "") {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes))
        made.setAttribute(key, String(value));
    made.textContent = text;
    return made;
}
function made(name, className, text = "") {
    const element = document.createElement(name);
    element.className = className;
    element.textContent = text;
    return element;
}
function all(within, selector) {
    return [...within.querySelectorAll(selector)];
}
function numbers(text) {
    return (text ?? "").split(" ").map(Number);
}
function short(value) {
    return String(Number(value.toPrecision(4))).replace("-", "−");
}
function isClick(event) {
    return event.key === "Enter" || event.key === " ";
}
class Field {
    group;
    points;
    left;
    top;
    width;
    height;
    whole;
    ticks;
    tickNodes;
    windows = [];
    shown;
    constructor(group) {
        this.group = group;
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
        this.points = all(group, "[data-points]").flatMap((series) => this.pointsOf(series));
    }
    get range() {
        return this.shown;
    }
    get isWhole() {
        return this.shown[0] === this.whole[0] && this.shown[1] === this.whole[1];
    }
    get title() {
        return this.group.dataset["x"] ?? "";
    }
    holds(x, y) {
        return x >= this.left && x <= this.left + this.width && y >= this.top && y <= this.top + this.height;
    }
    valueAt(x) {
        const [low, high] = this.shown;
        return low + ((x - this.left) / this.width) * (high - low);
    }
    placeOf(value) {
        const [low, high] = this.shown;
        return this.left + ((value - low) / (high - low)) * this.width;
    }
    visible() {
        const [low, high] = this.shown;
        return this.points.filter((point) => point.at >= low && point.at <= high && !point.series.classList.contains("off"));
    }
    select(ends) {
        this.group.querySelector(".selection")?.remove();
        if (!ends)
            return;
        const [from, to] = [Math.min(...ends), Math.max(...ends)];
        const size = { x: from, y: this.top, width: to - from, height: this.height };
        this.group.append(drawn("rect", { class: "selection", ...size }));
    }
    show(low, high) {
        const [first, last] = this.whole;
        const span = Math.min(Math.max(high - low, (last - first) / 100), last - first);
        const from = Math.min(Math.max((low + high - span) / 2, first), last - span);
        this.shown = span === last - first ? [first, last] : [from, from + span];
        this.draw();
    }
    draw() {
        const [first, last] = this.whole;
        const [low, high] = this.shown;
        const scale = this.width / (last - first);
        const [x, width] = [this.left + (low - first) * scale, (high - low) * scale];
        if (!this.windows.length)
            this.windows = this.makeWindows();
        for (const it of this.windows)
            it.setAttribute("viewBox", `${x} ${this.top - 2} ${width} ${this.height + 4}`);
        for (const label of all(this.group, "[data-at]")) {
            const at = Number(label.dataset["at"]);
            const place = this.left + ((at - x) / width) * this.width;
            label.setAttribute("transform", `translate(${place - at} 0)`);
            label.classList.toggle("off", place < this.left || place > this.left + this.width);
        }
        this.ticks?.replaceChildren(...(this.isWhole ? this.tickNodes : this.newTicks()));
    }
    makeWindows() {
        return all(this.group, "[data-zoomed]").map((group) => {
            const size = { x: this.left, y: this.top - 2, width: this.width, height: this.height + 4 };
            const window = drawn("svg", { ...size, preserveAspectRatio: "none" });
            window.append(...group.childNodes);
            group.append(window);
            return window;
        });
    }
    newTicks() {
        const [low, high] = this.shown;
        const least = (high - low) / Math.max(this.width / 75, 2);
        const power = 10 ** Math.floor(Math.log10(least));
        const step = power * ([1, 2, 5].find((factor) => factor * power >= least) ?? 10);
        const ticks = [];
        const bottom = this.top + this.height;
        for (let tick = Math.ceil(low / step); tick * step <= high; tick += 1) {
            const x = this.placeOf(tick * step);
            ticks.push(drawn("path", { class: "grid", d: `M${x} ${this.top}V${bottom}` }));
            if (x < this.left + 12 || x > this.left + this.width - 12)
                continue;
            ticks.push(drawn("text", { class: "k", x, y: bottom + 13, "text-anchor": "middle" }, short(tick * step)));
        }
        return ticks;
    }
    pointsOf(series) {
        const values = (series.dataset["points"] ?? "").split("|");
        const places = (series.querySelector("path")?.getAttribute("d") ?? "").split(/[ML]/).slice(1);
        const digits = Math.max(Math.floor(-Math.log10((this.whole[1] - this.whole[0]) / this.width / 10)), 0);
        return places.map((place, index) => {
            const [x = 0, y = 0] = numbers(place);
            return { x, y, at: Number(this.valueAt(x).toFixed(digits)), value: values[index] ?? "", series };
        });
    }
}
const NEAR = 14;
function distance(box, x, y) {
    const away = Math.hypot(Math.max(box.left - x, x - box.right, 0), Math.max(box.top - y, y - box.bottom, 0));
    const middle = Math.hypot((box.left + box.right) / 2 - x, (box.top + box.bottom) / 2 - y);
    return { away, area: Math.round(box.width * box.height), middle };
}
class Picture {
    svg;
    fields;
    place = -1;
    constructor(svg) {
        this.svg = svg;
        this.fields = all(svg, "[data-box]").map((group) => new Field(group));
        svg.setAttribute("role", "group");
        svg.setAttribute("tabindex", "0");
    }
    nearest(x, y) {
        const near = this.marks().map((mark) => ({ mark, ...distance(mark.getBoundingClientRect(), x, y) }));
        near.sort((a, b) => a.away - b.away || a.area - b.area || a.middle - b.middle);
        const [best] = near;
        if (best?.away === 0)
            return this.ofMark(best.mark);
        return this.nearestPoint(x, y) ?? (best && best.away < NEAR ? this.ofMark(best.mark) : undefined);
    }
    step(by) {
        const marks = this.marks();
        const points = this.fields.flatMap((field) => field.visible().map((point) => ({ field, point })));
        const count = marks.length + points.length;
        if (!count)
            return undefined;
        this.place = Math.min(Math.max(this.place + by, 0), count - 1);
        const mark = marks[this.place - points.length];
        const it = points[this.place];
        return it ? this.ofPoint(it.field, it.point) : mark && this.ofMark(mark);
    }
    inside(x, y) {
        return new DOMPoint(x, y).matrixTransform(this.svg.getScreenCTM()?.inverse());
    }
    fieldAt(x, y) {
        const at = this.inside(x, y);
        return this.fields.find((field) => field.holds(at.x, at.y));
    }
    marks() {
        return all(this.svg, "[data-v]").filter((mark) => !mark.closest(".off"));
    }
    nearestPoint(x, y) {
        const field = this.fieldAt(x, y);
        if (!field)
            return undefined;
        const at = field.valueAt(this.inside(x, y).x);
        const away = (point) => Math.abs(point.at - at);
        const [first, ...others] = field.visible();
        const best = others.reduce((best, point) => (best && away(point) < away(best) ? point : best), first);
        return best && this.ofPoint(field, best);
    }
    ofPoint(field, point) {
        const place = new DOMPoint(field.placeOf(point.at), point.y).matrixTransform(this.svg.getScreenCTM() ?? undefined);
        const lines = [
            [point.value, field.group.dataset["y"] ?? ""],
            [short(point.at), field.title],
        ];
        return { label: this.labelOf(point.series), lines, x: place.x, y: place.y };
    }
    ofMark(mark) {
        const box = mark.getBoundingClientRect();
        const of = (name) => mark.closest(`[data-${name}]`)?.getAttribute(`data-${name}`) ?? "";
        const lines = [[of("v"), of("y")]];
        if (mark.hasAttribute("data-u"))
            lines.push([of("u"), of("x")]);
        return { label: this.labelOf(mark), lines, x: (box.left + box.right) / 2, y: box.top, mark };
    }
    labelOf(mark) {
        const row = mark.closest("[data-label]")?.getAttribute("data-label") ?? "";
        const series = mark.closest("[data-s]")?.getAttribute("data-s") ?? "";
        const key = this.svg.querySelector(`[data-k="${series}"]`)?.textContent?.trim() ?? "";
        return [row, key].filter((name) => name).join(", ");
    }
}
class Tip {
    box = made("div", "tip");
    marked;
    ring = made("div", "ring");
    constructor() {
        this.box.setAttribute("role", "status");
        this.hide();
        document.body.append(this.ring, this.box);
    }
    show(reading) {
        if (!reading)
            return this.hide();
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
        const { width, height } = this.box.getBoundingClientRect();
        const left = Math.min(Math.max(reading.x - width / 2, 4), document.documentElement.clientWidth - width - 4);
        const above = reading.y - height - 10;
        this.move(this.box, left, above < 4 ? reading.y + 18 : above);
    }
    hide() {
        this.marked?.classList.remove("at");
        this.box.classList.add("off");
        this.ring.classList.add("off");
    }
    move(element, left, top) {
        element.style.left = `${left + window.scrollX}px`;
        element.style.top = `${top + window.scrollY}px`;
    }
}
function followPointer(picture, tip) {
    const { svg } = picture;
    const at = (event) => tip.show(picture.nearest(event.clientX, event.clientY));
    svg.addEventListener("pointermove", at);
    svg.addEventListener("pointerdown", at);
    svg.addEventListener("pointerleave", (event) => {
        if (event.pointerType === "mouse")
            tip.hide();
    });
}
function followKeys(picture, tip) {
    const steps = {
        ArrowRight: 1,
        ArrowLeft: -1,
        PageDown: 10,
        PageUp: -10,
        Home: -Infinity,
        End: Infinity,
    };
    picture.svg.addEventListener("keydown", (event) => {
        const by = steps[event.key];
        if (event.key === "Escape")
            tip.hide();
        if (by === undefined || event.target !== picture.svg)
            return;
        event.preventDefault();
        tip.show(picture.step(by));
    });
    picture.svg.addEventListener("blur", () => tip.hide());
}
function makeToggles(picture) {
    for (const key of all(picture.svg, "[data-k]")) {
        const marks = all(picture.svg, `[data-s="${key.dataset["k"]}"]`);
        if (!marks.length)
            continue;
        const toggle = () => {
            const isShown = key.getAttribute("aria-pressed") === "true";
            key.setAttribute("aria-pressed", String(!isShown));
            for (const mark of marks)
                mark.classList.toggle("off", isShown);
        };
        key.setAttribute("role", "button");
        key.setAttribute("tabindex", "0");
        key.setAttribute("aria-pressed", "true");
        key.addEventListener("click", toggle);
        key.addEventListener("keydown", (event) => {
            if (!isClick(event))
                return;
            event.preventDefault();
            toggle();
        });
    }
}
const DRAGGED = 6;
class Zoom {
    fields;
    said = made("span", "");
    constructor(fields) {
        this.fields = fields;
    }
    change(size, by = 0) {
        for (const field of this.fields) {
            const [low, high] = field.range;
            const [middle, span] = [(low + high) / 2 + (high - low) * by, (high - low) * size];
            field.show(middle - span / 2, middle + span / 2);
        }
        this.say();
    }
    to(low, high) {
        for (const field of this.fields)
            field.show(low, high);
        this.say();
    }
    controls() {
        const box = made("span", "zoom");
        box.setAttribute("role", "group");
        box.setAttribute("aria-label", "Visible range");
        const button = (text, name, act) => {
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
    say() {
        const [field] = this.fields;
        if (!field)
            return;
        const [low, high] = field.range;
        this.said.textContent = field.isWhole ? "" : `${short(low)} to ${short(high)}: ${field.title}`;
    }
}
function makeZoom(figure, pictures, tip) {
    const fields = pictures.flatMap((picture) => picture.fields);
    if (!fields.length)
        return;
    const zoom = new Zoom(fields);
    figure.querySelector("figcaption")?.append(zoom.controls());
    for (const picture of pictures) {
        drag(picture, zoom, tip);
        picture.svg.addEventListener("dblclick", () => zoom.to(-Infinity, Infinity));
        picture.svg.addEventListener("keydown", (event) => {
            if (event.key === "+")
                zoom.change(0.5);
            if (event.key === "-")
                zoom.change(2);
            if (event.key === "0")
                zoom.to(-Infinity, Infinity);
        });
    }
}
function drag(picture, zoom, tip) {
    const { svg } = picture;
    let begun;
    svg.addEventListener("pointerdown", (event) => {
        const field = picture.fieldAt(event.clientX, event.clientY);
        if (!field || event.button !== 0 || event.pointerType === "touch")
            return;
        begun = { field, x: picture.inside(event.clientX, event.clientY).x };
        svg.setPointerCapture(event.pointerId);
        event.preventDefault();
        svg.focus({ preventScroll: true });
    });
    svg.addEventListener("pointermove", (event) => {
        if (begun)
            begun.field.select([begun.x, picture.inside(event.clientX, event.clientY).x]);
    });
    const end = (event) => {
        if (!begun)
            return;
        const { field, x } = begun;
        begun = undefined;
        field.select();
        const to = picture.inside(event.clientX, event.clientY).x;
        if (event.type === "pointercancel" || Math.abs(to - x) < DRAGGED)
            return;
        tip.hide();
        zoom.to(field.valueAt(Math.min(x, to)), field.valueAt(Math.max(x, to)));
    };
    svg.addEventListener("pointerup", end);
    svg.addEventListener("pointercancel", end);
}
const UNITS = {
    ns: 1, "µs": 1e3, us: 1e3, ms: 1e6, s: 1e9, min: 6e10, h: 3.6e12,
    "bit/s": 1, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9, "Tbit/s": 1e12,
    B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40, K: 2 ** 10, M: 2 ** 20, G: 2 ** 30,
};
function amount(text) {
    const found = /^[+]?([−-]?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?)\s*([^\s\d(,;!]*)/.exec(text.trim());
    if (!found)
        return undefined;
    const number = Number((found[1] ?? "").replace(/,/g, "").replace("−", "-"));
    return number * (UNITS[found[2] ?? ""] ?? 1);
}
function order(one, other, sign) {
    const [a, b] = [amount(one), amount(other)];
    if (a !== undefined && b !== undefined)
        return (a - b) * sign;
    const rank = (text, number) => (/^\W*$/.test(text) ? 2 : number === undefined ? 1 : 0);
    return rank(one, a) - rank(other, b) || one.localeCompare(other, "en", { numeric: true }) * sign;
}
const NEXT = { none: "ascending", ascending: "descending", descending: "none" };
function makeSortable(table) {
    const [body] = table.tBodies;
    const heads = all(table, "thead th");
    if (!body || body.rows.length < 2 || heads.length < 3)
        return;
    const rows = [...body.rows];
    if (rows.some((row) => !row.cells[0]?.textContent?.trim()))
        return;
    heads.forEach((head, column) => {
        if (!head.textContent?.trim())
            return;
        const button = made("button", "sort");
        button.type = "button";
        button.append(...head.childNodes);
        head.append(button);
        const text = (row) => row.cells[column]?.textContent?.trim() ?? "";
        button.addEventListener("click", () => {
            const direction = NEXT[(head.getAttribute("aria-sort") ?? "none")];
            for (const other of heads)
                other.removeAttribute("aria-sort");
            if (direction !== "none")
                head.setAttribute("aria-sort", direction);
            const sign = direction === "descending" ? -1 : 1;
            const sorted = direction === "none" ? rows : [...rows].sort((a, b) => order(text(a), text(b), sign));
            body.append(...sorted);
        });
    });
}
const tip = new Tip();
for (const figure of all(document, "figure")) {
    const pictures = all(figure, "svg.pc").map((svg) => new Picture(svg));
    for (const picture of pictures) {
        makeToggles(picture);
        followPointer(picture, tip);
        followKeys(picture, tip);
    }
    makeZoom(figure, pictures, tip);
}
for (const table of all(document, "main table"))
    makeSortable(table);
