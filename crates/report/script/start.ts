// Adds the script's features to the page, which is complete without them.

const tip = new Tip();

for (const figure of all(document, "figure")) {
  const pictures = all<SVGSVGElement>(figure, "svg.pc").map((svg) => new Picture(svg));
  for (const picture of pictures) {
    makeToggles(picture);
    followPointer(picture, tip);
    followKeys(picture, tip);
  }
  makeZoom(figure, pictures, tip);
}
for (const table of all<HTMLTableElement>(document, "main table")) makeSortable(table);
