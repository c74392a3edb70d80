import { Crowd, type Stream } from './crowd.ts';

/** Holds streams open in a process of its own, which is killed to see what a crowd leaves behind. */
process.once('message', (streams: Stream[]) => {
  void Crowd.open(streams).then(() => process.send!('open'));
});
process.once('disconnect', () => process.exit());
