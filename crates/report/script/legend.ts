// Legend entries show and hide the elements they describe.

function makeToggles(picture: Picture): void {
  for (const key of all<SVGElement>(picture.svg, "[data-k]")) {
    const marks = all(picture.svg, `[data-s="${key.dataset["k"]}"]`);
    if (!marks.length) continue;
    const toggle = (): void => {
      const isShown = key.getAttribute("aria-pressed") === "true";
      key.setAttribute("aria-pressed", String(!isShown));
      for (const mark of marks) mark.classList.toggle("off", isShown);
    };
    key.setAttribute("role", "button");
    key.setAttribute("tabindex", "0");
    key.setAttribute("aria-pressed", "true");
    key.addEventListener("click", toggle);
    key.addEventListener("keydown", (event) => {
      if (!isClick(event)) return;
      event.preventDefault();
      toggle();
    });
  }
}
