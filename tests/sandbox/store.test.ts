import { expect, onTestFinished, test } from 'vitest';
import { openStore } from './store.ts';

function newStore() {
  const store = openStore(':memory:');
  onTestFinished(() => store.close());
  return store;
}

test('lists documents in the order of their first insertion, as they are now', () => {
  const store = newStore();
  store.put('notes', 'a', { text: 'one' });
  expect(store.list('notes')).toEqual([{ text: 'one' }]);
  store.put('notes', 'b', { text: 'two' });
  store.put('notes', 'a', { text: 'three' });
  expect(store.list('notes')).toEqual([{ text: 'three' }, { text: 'two' }]);
  store.delete('notes', 'a');
  store.put('notes', 'a', { text: 'four' });
  expect(store.list('notes')).toEqual([{ text: 'two' }, { text: 'four' }]);
  expect(store.get('notes', 'a')).toEqual({ text: 'four' });
});

test('a transaction that fails leaves no trace, whether its collections were listed before or within it', () => {
  const store = newStore();
  store.put('listed', 'a', 1);
  store.list('listed');
  const fail = () => {
    store.put('listed', 'b', 2);
    store.put('new', 'c', 3);
    store.list('new');
    throw new Error('rolled back');
  };
  expect(() => store.transaction(() => store.transaction(fail))).toThrow('rolled back');
  expect([store.list('listed'), store.list('new'), store.get('new', 'c')]).toEqual([[1], [], undefined]);
});

test('no reader can change what the next one gets', () => {
  const store = newStore();
  store.put('notes', 'a', { tags: ['one'] });
  const [note] = store.list<{ tags: string[] }>('notes');
  expect(() => note!.tags.push('two')).toThrow(TypeError);
  expect(store.get('notes', 'a')).toEqual({ tags: ['one'] });
});
