// Small helpers to make elements. Texts go in as text, never as markup.

type Child = Node | string | undefined | false;

type Props = Partial<{
  class: string;
  text: string;
  title: string;
  type: string;
  role: string;
  hidden: boolean;
  data: Record<string, string>;
  aria: Record<string, string>;
  onclick: (event: MouseEvent) => void;
}>;

export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  if (props.class) made.className = props.class;
  if (props.text !== undefined) made.textContent = props.text;
  if (props.title) made.title = props.title;
  if (props.type) made.setAttribute("type", props.type);
  if (props.role) made.setAttribute("role", props.role);
  if (props.hidden) made.hidden = true;
  for (const [name, value] of Object.entries(props.data ?? {})) made.dataset[name] = value;
  for (const [name, value] of Object.entries(props.aria ?? {})) made.setAttribute(`aria-${name}`, value);
  if (props.onclick) made.addEventListener("click", props.onclick as EventListener);
  for (const child of children) if (child) made.append(child);
  return made;
}

export interface Action {
  label: string;
  run: () => void;
  primary?: boolean;
  testid?: string;
}

export function button(action: Action): HTMLButtonElement {
  return element("button", {
    class: action.primary ? "primary" : "",
    type: "button",
    text: action.label,
    data: action.testid ? { testid: action.testid } : {},
    onclick: () => action.run(),
  });
}

/** A symbol of web/view/layout.templ. */
export function icon(name: string): SVGSVGElement {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
  use.setAttribute("href", `#i-${name}`);
  svg.append(use);
  return svg;
}

/** An element that the server's HTML has. */
export function find<T extends HTMLElement = HTMLElement>(selector: string, root: ParentNode = document): T {
  const found = root.querySelector<T>(selector);
  if (!found) throw new Error(`the page has no ${selector}`);
  return found;
}
