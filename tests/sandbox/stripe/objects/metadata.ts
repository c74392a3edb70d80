import type { Metadata } from '../types/metadata.ts';
type MetadataParam = '' | null | Record<string, string | number | null> | undefined;

/** Merges metadata: an empty value removes its key, an empty text removes every key. */
export function mergeMetadata(old: Metadata, changes: MetadataParam): Metadata {
  if (changes === undefined) return old;
  if (changes === '' || changes === null) return {};
  const merged = { ...old, ...(changes as Metadata) };
  return Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== '' && value !== null));
}

/** A new object's metadata. */
export function newMetadata(given: MetadataParam): Metadata {
  return mergeMetadata({}, given);
}
