import { createHash } from 'node:crypto';

/** Cloudflare reads at most 100 rules. */
const maxRules = 100;

type Options = {
  html: string;
  connectTo: readonly string[];
  /** Files that have a hash of their content in their names. */
  hashedFiles: readonly string[];
};

/** The `_headers` file of the assets: security policies, and cache lifetimes. */
export function securityHeaders({ html, connectTo, hashedFiles }: Options): string {
  const policy = [
    "default-src 'none'",
    `script-src ${["'self'", ...inlineHashes(html, 'script')].join(' ')}`,
    `style-src ${inlineHashes(html, 'style').join(' ')}`,
    "img-src 'self'",
    "font-src 'self'",
    `connect-src ${["'self'", ...connectTo].join(' ')}`,
    "manifest-src 'self'",
    "base-uri 'none'",
    "object-src 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ');
  return `/*
  Content-Security-Policy: ${policy}
  Strict-Transport-Security: max-age=31536000; includeSubDomains
  X-Content-Type-Options: nosniff
  X-Frame-Options: DENY
  Referrer-Policy: same-origin
  Permissions-Policy: camera=(), microphone=(), geolocation=(), payment=(), usb=(), browsing-topics=()
  Cross-Origin-Opener-Policy: same-origin

${immutableRules(hashedFiles)}`;
}

/** One rule for each file: with a rule for the folder, browsers would also cache the 404 of a missing file. */
function immutableRules(files: readonly string[]): string {
  if (files.length >= maxRules) throw new Error(`${files.length} files need more rules than the ${maxRules} allowed`);
  return files.map((file) => `/${file}\n  Cache-Control: public, max-age=31536000, immutable\n`).join('');
}

/** The hashes by which a policy allows the page's own inline scripts or styles. */
export function inlineHashes(html: string, tag: 'script' | 'style'): string[] {
  const parts = html.matchAll(new RegExp(`<${tag}>([\\s\\S]*?)</${tag}>`, 'g'));
  return [...parts].map(([, code = '']) => `'sha256-${createHash('sha256').update(code).digest('base64')}'`);
}
