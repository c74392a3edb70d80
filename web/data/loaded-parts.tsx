import { type ComponentType, lazy, type ReactNode, useEffect, useState } from 'react';
import { loadInTime } from './promise-limit.ts';

type Loading<Props> = () => Promise<{ default: ComponentType<Props> }>;

/** Like `lazy`, but shows `Instead` if the file does not load. */
export function lazyWithFallback<Props extends object>(
  load: Loading<Props>,
  Instead: ComponentType<Props> = () => null,
) {
  return lazy(() => loadInTime(load()).catch(() => ({ default: Instead })));
}

type Instead = { loading?: ReactNode; failed?: ReactNode };

/** Shows a part once its file is here. With `lazy`, a missing file would replace the page by an error. */
export function loadAfterMount<Props extends object>(
  load: Loading<Props>,
  { loading = null, failed = null }: Instead = {},
): ComponentType<Props> {
  return function LoadedAfterMount(props: Props) {
    const [Part, setPart] = useState<ComponentType<Props> | 'missing' | null>(null);
    useEffect(() => {
      loadInTime(load()).then(
        (file) => setPart(() => file.default),
        () => setPart('missing'),
      );
    }, []);

    if (Part === null) return loading;
    return Part === 'missing' ? failed : <Part {...props} />;
  };
}
