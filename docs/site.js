// What Material adds to a page while it loads, made usable by keyboard and screen reader.
const repair = () => {
  for (const place of document.querySelectorAll(".md-code__nav")) place.setAttribute("role", "none");
  for (const place of document.querySelectorAll(".md-typeset__scrollwrap, pre > code, p:has(> img)")) {
    if (place.scrollWidth > place.clientWidth) place.tabIndex = 0;
  }
};
new MutationObserver(repair).observe(document.documentElement, { childList: true, subtree: true });
addEventListener("resize", repair);
addEventListener("load", repair);
