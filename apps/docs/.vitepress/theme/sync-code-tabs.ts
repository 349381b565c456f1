const KEY = "signalbox.code-tab";

/** Selects the same tab in all code groups of the site, and remembers it. */
export function syncCodeTabs(document: Document, storage: Storage): void {
  const select = (label: string): void => {
    for (const tab of document.querySelectorAll<HTMLLabelElement>(".vp-code-group .tabs label")) {
      const input = document.getElementById(tab.htmlFor);
      if (tab.textContent === label && input instanceof HTMLInputElement && !input.checked) tab.click();
    }
  };
  let isSelecting = false;
  document.addEventListener("click", ({ target }) => {
    if (isSelecting || !(target instanceof HTMLLabelElement) || target.closest(".vp-code-group") === null)
      return;
    storage.setItem(KEY, target.textContent ?? "");
    isSelecting = true;
    select(target.textContent ?? "");
    isSelecting = false;
  });
  // VitePress replaces the content when the user navigates.
  new MutationObserver(() => {
    const label = storage.getItem(KEY);
    if (label === null) return;
    isSelecting = true;
    select(label);
    isSelecting = false;
  }).observe(document.body, { childList: true, subtree: true });
}
