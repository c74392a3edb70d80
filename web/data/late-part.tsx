import { type ComponentType, type ReactNode, useEffect, useState } from 'react';
import * as timeLimits from './time-limits.ts';
import { within } from './within.ts';

type Instead = { loading?: ReactNode; failed?: ReactNode };

/**
 * A part of a page that loads when it is first shown; its default export. Unlike `lazy`, a file that does not load takes
 * nothing else of the page away.
 */
export function latePart<Props extends object>(
  load: () => Promise<{ default: ComponentType<Props> }>,
  { loading = null, failed = null }: Instead = {},
): ComponentType<Props> {
  return function LatePart(props: Props) {
    const [Part, setPart] = useState<ComponentType<Props> | 'missing' | null>(null);
    useEffect(() => {
      within(timeLimits.file, load()).then(
        (file) => setPart(() => file.default),
        () => setPart('missing'),
      );
    }, []);

    if (Part === null) return loading;
    return Part === 'missing' ? failed : <Part {...props} />;
  };
}
