/** Makes something of an object at the first call and finds it again, for objects that never change. */
export function oncePer<K extends object, V extends object | string>(make: (key: K) => V): (key: K) => V {
  const made = new WeakMap<K, V>();
  return (key) => {
    let value = made.get(key);
    if (value === undefined) {
      value = make(key);
      made.set(key, value);
    }
    return value;
  };
}

interface Remembered<Item, Made> {
  readonly items: readonly Item[];
  readonly made: readonly Made[];
}

/**
 * Makes something of each item of a list that grows at its end, such as a history, whose items never change: what a
 * list that began with the same items had made of them is found again, so that each request costs what is new in it.
 */
export function onceInList<Item extends object, Made>(
  make: (item: Item) => Made,
): (items: readonly Item[]) => readonly Made[] {
  const byFirst = new WeakMap<Item, Remembered<Item, Made>>();
  return (items) => {
    const first = items[0];
    if (first === undefined) return [];
    const before = byFirst.get(first) ?? { items: [], made: [] };
    const same = commonLength(before.items, items);
    const made = before.made.slice(0, same).concat(items.slice(same).map(make));
    byFirst.set(first, { items: [...items], made });
    return made;
  };
}

function commonLength(a: readonly unknown[], b: readonly unknown[]): number {
  const end = Math.min(a.length, b.length);
  let at = 0;
  while (at < end && a[at] === b[at]) at++;
  return at;
}
