/**
 * Lets React go on where a translator or an extension has moved or replaced its nodes: without this the page crashes when
 * it removes such a node (https://github.com/facebook/react/issues/11538). Texts that change are elements of their own,
 * so that what is shown stays right.
 */
export function tolerateForeignChanges(): void {
  // oxlint-disable-next-line unbound-method -- called with the node below
  const { removeChild } = Node.prototype;
  Node.prototype.removeChild = function <Child extends Node>(this: Node, child: Child): Child {
    return child.parentNode === this ? (removeChild.call(this, child) as Child) : child;
  };
}
