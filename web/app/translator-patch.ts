/** Lets React remove nodes that a translator has moved (https://github.com/facebook/react/issues/11538). */
export function tolerateForeignChanges(): void {
  // oxlint-disable-next-line unbound-method -- called with the node below
  const { removeChild } = Node.prototype;
  Node.prototype.removeChild = function <Child extends Node>(this: Node, child: Child): Child {
    return child.parentNode === this ? (removeChild.call(this, child) as Child) : child;
  };
}
