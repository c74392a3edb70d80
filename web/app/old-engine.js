// Runs unchanged in any engine of the last fifteen years, so it is written for those. One below `build/oldest-engines.ts`
// lacks a part of the first condition: it shows what visitors without JavaScript see, and never starts the app.
(function (page, root) {
  if ([].toSorted && self.CompressionStream) return;
  root.setAttribute('data-visitor', 'unscripted');
  // The scripts of the head find what they start by its name.
  var parts = page.querySelector('#after-paint, #at-start');
  if (parts) parts.id = '';
  var notices = page.querySelectorAll('noscript');
  for (var at = 0; at < notices.length; at++) notices[at].outerHTML = notices[at].textContent;
})(document, document.documentElement);
