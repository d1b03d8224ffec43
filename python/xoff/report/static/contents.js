// Marks in the table of contents the part of the page that is in sight.
(() => {
  const links = new Map([...document.querySelectorAll("nav a")].map((link) => [link.getAttribute("href").slice(1), link]));
  const headings = [...document.querySelectorAll("main h2[id]")].filter(({ id }) => links.has(id));
  if (!links.size) return;
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  let last;
  const mark = () => {
    const bottom = scrollY + innerHeight >= document.documentElement.scrollHeight - 2;
    const above = headings.filter((heading) => heading.getBoundingClientRect().top < 120);
    const link = links.get((bottom ? headings : above).at(-1)?.id ?? headings[0].id);
    if (link === last) return;
    last?.removeAttribute("aria-current");
    link.setAttribute("aria-current", "true");
    // On a narrow screen the contents are one line, which moves along.
    link.closest("ul").scrollTo({ left: link.offsetLeft - 60, behavior: calm.matches ? "auto" : "smooth" });
    last = link;
  };
  addEventListener("scroll", mark, { passive: true });
  addEventListener("resize", mark);
  mark();
})();
