import { link } from '#styled/recipes';
import { layoutWords } from '../../words/layout.ts';
import { shellRoot } from './shell-root.ts';

let problem: string | null = null;
/** Where the problem is shown, and what was served there. */
let place: { slot: Element; served: ChildNode[] } | null = null;

/** Says in the shell why the app has not started. */
export function showProblem(text: string): void {
  problem = text;
  renderProblem();
}

/** Restores what was served, which React expects. */
export function hideProblem(): void {
  place?.slot.replaceChildren(...place.served);
  place = null;
  problem = null;
}

/** Shows the problem, if there is one, in a shell that was filled afterwards. */
export function renderProblem(): void {
  const slot = shellRoot()?.querySelector('[data-slot=start]');
  if (problem === null || !slot) return;
  if (place?.slot !== slot) place = { slot, served: [...slot.childNodes] };
  const button = Object.assign(document.createElement('button'), { type: 'button', className: link() });
  button.textContent = layoutWords.refreshPage;
  button.addEventListener('click', () => location.reload());
  slot.replaceChildren(`${problem} `, button);
}
