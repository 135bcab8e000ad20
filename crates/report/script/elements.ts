// Creates and reads elements, independent of their use.

const SVG = "http://www.w3.org/2000/svg";

function drawn(name: string, attributes: Record<string, string | number>, text = ""): SVGElement {
  const made = document.createElementNS(SVG, name) as SVGElement;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  made.textContent = text;
  return made;
}

function made<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  className: string,
  text = "",
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  element.className = className;
  element.textContent = text;
  return element;
}

function all<Kind extends Element>(within: ParentNode, selector: string): Kind[] {
  return [...within.querySelectorAll<Kind>(selector)];
}

function numbers(text: string | undefined): number[] {
  return (text ?? "").split(" ").map(Number);
}

/** Formats a value with four digits, like the charts. */
function short(value: number): string {
  return String(Number(value.toPrecision(4))).replace("-", "−");
}

/** Returns whether a key press activates an element that is not an HTML button. */
function isClick(event: KeyboardEvent): boolean {
  return event.key === "Enter" || event.key === " ";
}
