import { brand } from '#contract/brand';
import { request } from '../../data/api.ts';

/** Saves the export of the user's data as a JSON file. */
export async function downloadMyData(): Promise<void> {
  const data: unknown = await request('exportMe');
  const file = new Blob([JSON.stringify(data, null, 2)], { type: 'application/json' });
  const url = URL.createObjectURL(file);
  const link = document.createElement('a');
  link.href = url;
  link.download = `${brand.name.toLowerCase()}-data-${new Date().toISOString().slice(0, 10)}.json`;
  link.click();
  URL.revokeObjectURL(url);
}
