import type { ElementType, ReactElement, ReactNode } from 'react';

/** For `toDom`; React's would be 250 bytes more. */
export const jsx = (type: ElementType, props: object) => ({ type, props });
export const jsxs = (type: ElementType, props: object) => jsx(type, props);

/** Components without hooks; React attaches handlers later. */
export function toDom(node: ReactNode): DocumentFragment {
  const fragment = document.createDocumentFragment();
  append(fragment, node);
  return fragment;
}

function append(parent: Node, node: ReactNode): void {
  if (Array.isArray(node)) {
    for (const one of node) append(parent, one);
    return;
  }
  if (typeof node === 'string' && node !== '') parent.appendChild(new Text(node));
  if (isElement(node)) appendElement(parent, node);
}

const isElement = (node: ReactNode): node is ReactElement =>
  typeof node === 'object' && node !== null && 'props' in node;

type Props = { children?: ReactNode } & Record<string, unknown>;
type Component = (props: unknown) => ReactNode;

function appendElement(parent: Node, { type, props }: ReactElement): void {
  // Neither classes nor fragments are used here.
  if (typeof type !== 'string') return append(parent, (type as Component)(props));
  const { children, className, ...others }: Props = Object(props);
  const element = document.createElement(type);
  const attributes = { ...others, class: className };
  for (const [name, value] of Object.entries(attributes)) setAttribute(element, name, value);
  append(element, children);
  parent.appendChild(element);
}

function setAttribute(element: Element, name: string, value: unknown): void {
  const isShown = typeof value === 'string' || typeof value === 'number';
  if (isShown) element.setAttribute(name, String(value));
}
