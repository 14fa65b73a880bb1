// Asks the server again and again; a run that has stopped is waited for, another one may follow.
function follow(query, show) {
  let reached = false;
  async function look() {
    const began = performance.now();
    let state = null;
    try {
      const response = await fetch(`state?${new URLSearchParams(query())}`, { cache: "no-store" });
      if (response.ok) state = await response.json();
    } catch { /* nobody answers */ }
    try {
      if (state) show(state);
      else if (reached) subtitle("The run has ended or was stopped; this page waits for the next one.", true);
      if (state) {
        reached = state.phase !== "ended";
        document.documentElement.dataset.ready = "true";
      }
    } catch (error) {
      byId("failure").textContent = `This browser cannot show the run (${error.message}).`;
      byId("failure").hidden = false;
      throw error;
    }
    setTimeout(look, Math.min(5000, Math.max(1000, 4 * (performance.now() - began))));
  }
  look();
}

// Only a change is written: screen readers read it aloud.
function subtitle(text, lost = false) {
  const node = byId("subtitle");
  if (node.textContent !== text) node.textContent = text;
  node.classList.toggle("lost", lost);
}

// Elements whose parts draw themselves anew have to be new ones; what had the focus keeps it.
const pristine = new Map([...document.querySelectorAll("[data-fresh]")].map((node) => [node.id, node.cloneNode(true)]));
function redrawn(paint) {
  const focus = document.activeElement, within = focus?.closest("[data-fresh]")?.id;
  const nodes = within ? [byId(within), ...byId(within).querySelectorAll("button, select")] : [];
  const place = nodes.indexOf(focus), seen = scrollY;
  for (const [id, node] of pristine) {
    const old = byId(id), fresh = node.cloneNode(true);
    // Of the old height until it is drawn: the page below must not jump.
    fresh.style.minHeight = `${old.offsetHeight}px`;
    old.replaceWith(fresh);
  }
  paint();
  for (const id of pristine.keys()) byId(id).style.minHeight = "";
  if (place >= 0) [byId(within), ...byId(within).querySelectorAll("button, select")][place]?.focus({ preventScroll: true });
  scrollTo({ top: seen, behavior: "instant" });
}

startTheme();
document.addEventListener("pointerdown", tip.hide);
