// Sorts a table when the user clicks a column's title. Further clicks switch between ascending, descending and
// original order.

/** Maps each unit to its size in the smallest unit of its kind. */
const UNITS: Record<string, number> = {
  ns: 1, "µs": 1e3, us: 1e3, ms: 1e6, s: 1e9, min: 6e10, h: 3.6e12,
  "bit/s": 1, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9, "Tbit/s": 1e12,
  B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40, K: 2 ** 10, M: 2 ** 20, G: 2 ** 30,
};

/** Parses the number at the start of a cell and converts it to the smallest unit of its kind. */
function amount(text: string): number | undefined {
  const found = /^[+]?([−-]?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?)\s*([^\s\d(,;!]*)/.exec(text.trim());
  if (!found) return undefined;
  const number = Number((found[1] ?? "").replace(/,/g, "").replace("−", "-"));
  return number * (UNITS[found[2] ?? ""] ?? 1);
}

/** Compares cells. Numbers come first, then text in alphabetical order, and unknown values always last. */
function order(one: string, other: string, sign: number): number {
  const [a, b] = [amount(one), amount(other)];
  if (a !== undefined && b !== undefined) return (a - b) * sign;
  const rank = (text: string, number?: number): number => (/^\W*$/.test(text) ? 2 : number === undefined ? 1 : 0);
  return rank(one, a) - rank(other, b) || one.localeCompare(other, "en", { numeric: true }) * sign;
}

type Direction = "ascending" | "descending" | "none";
const NEXT: Record<Direction, Direction> = { none: "ascending", ascending: "descending", descending: "none" };

function makeSortable(table: HTMLTableElement): void {
  const [body] = table.tBodies;
  const heads = all<HTMLTableCellElement>(table, "thead th");
  if (!body || body.rows.length < 2 || heads.length < 3) return;
  const rows = [...body.rows];
  // Do not sort tables in which a row continues the one above.
  if (rows.some((row) => !row.cells[0]?.textContent?.trim())) return;
  heads.forEach((head, column) => {
    if (!head.textContent?.trim()) return;
    const button = made("button", "sort");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    const text = (row: HTMLTableRowElement): string => row.cells[column]?.textContent?.trim() ?? "";
    button.addEventListener("click", () => {
      const direction = NEXT[(head.getAttribute("aria-sort") ?? "none") as Direction];
      for (const other of heads) other.removeAttribute("aria-sort");
      if (direction !== "none") head.setAttribute("aria-sort", direction);
      const sign = direction === "descending" ? -1 : 1;
      const sorted = direction === "none" ? rows : [...rows].sort((a, b) => order(text(a), text(b), sign));
      body.append(...sorted);
    });
  });
}
