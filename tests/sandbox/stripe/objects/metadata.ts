import type { Metadata } from '../types/metadata.ts';
type MetadataParam = '' | null | Record<string, string | number | null> | undefined;

/** Lays new keys over the old ones; an empty value unsets its key, an empty text unsets all. */
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
