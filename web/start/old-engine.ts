import { appId, markName, type TemplateId, type Visitor } from './protocol.ts';

const late: TemplateId = 'late';
const visitor: Visitor = 'unscripted';

/**
 * The last script of a page. It is text, since every tool would rewrite it in newer syntax: any
 * engine of the last fifteen years runs it. An engine older than `build/oldest-engines.ts`, except
 * Chrome 110, does not meet the first condition: it shows what visitors without JavaScript see, and
 * never starts the app.
 */
export const oldEngine = `
(function (page, root) {
if ([].toSorted && self.CompressionStream) return;
root.setAttribute('${markName('visitor')}', '${visitor}');
var app = page.querySelector('#${late}, #${appId}');
if (app) app.parentNode.removeChild(app);
var notices = page.querySelectorAll('noscript');
for (var at = 0; at < notices.length; at++) notices[at].outerHTML = notices[at].textContent;
})(document, document.documentElement);
`.trim();
