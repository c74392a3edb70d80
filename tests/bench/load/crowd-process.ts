import { Crowd, type Stream } from './crowd.ts';

/** Holds streams open in its own process, which is killed to measure what abandoned streams leave. */
process.once('message', (streams: Stream[]) => {
  void Crowd.open(streams).then(() => process.send!('open'));
});
process.once('disconnect', () => process.exit());
