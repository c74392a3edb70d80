/** The element of an id. */
export const byId = (id) => document.getElementById(id);

/** A new element; `on…` properties add listeners, `data…` and `aria…` set attributes. */
export function el(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes('-')) element.setAttribute(name, value);
    else element[name] = value;
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** Calls `show` only if its data has changed, to avoid flicker. */
export function whenChanged(show) {
  let shown;
  return (...parts) => {
    const now = JSON.stringify(parts);
    if (now === shown) return;
    shown = now;
    show(...parts);
  };
}
