import { link } from '#styled/recipes';
import { layoutWords } from '#words/layout';
import { shellRoot } from './protocol.ts';

/** Says in a shell why its app does not start. */
export class StartProblem {
  #text: string | null = null;
  #place: { status: Element; served: ChildNode[] } | null = null;

  show(text: string): void {
    this.#text = text;
    this.render();
  }

  /** Puts back what was served, which React expects. */
  hide(): void {
    this.#place?.status.replaceChildren(...this.#place.served);
    this.#place = null;
    this.#text = null;
  }

  /** Shows the text, also in a shell that was filled after `show`. */
  render(): void {
    const status = shellRoot()?.querySelector('main output');
    if (this.#text === null || !status) return;
    if (this.#place?.status !== status) this.#place = { status, served: [...status.childNodes] };

    const again = document.createElement('button');
    again.type = 'button';
    again.className = link();
    again.textContent = layoutWords.refreshPage;
    again.addEventListener('click', () => location.reload());
    status.replaceChildren(`${this.#text} `, again);
  }
}
