// A chart is one stop of the Tab key; inside it arrow keys go from item to item.
function keysThrough(node, { length, current, go, enter = null, leave = null }) {
  node.setAttribute("tabindex", "0");
  node.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const last = length() - 1;
    if (last < 0) return;
    const now = current(event);
    const targets = {
      ArrowRight: now + 1, ArrowUp: now + 1, ArrowLeft: now - 1, ArrowDown: now - 1,
      PageDown: now + 10, PageUp: now - 10, Home: 0, End: last,
    };
    if (event.key === "Escape") leave?.();
    else if (event.key === "Enter" && enter) enter(now);
    else if (event.key in targets) go(Math.min(Math.max(targets[event.key], 0), last), event);
    else return;
    event.preventDefault();
  });
  node.addEventListener("blur", () => leave?.());
}
