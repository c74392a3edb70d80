import { brand } from '#contract/brand';

const { companion } = brand;

/** Ours: voice messages. */
export const voiceWords = {
  record: 'Record a voice message',
  group: 'Voice message',
  asking: 'Your browser will ask for the microphone.',
  recording: 'Recording',
  secondsLeft: (count: number) => (count === 1 ? '1 second left' : `${count} seconds left`),
  stop: 'Stop',
  cancel: 'Cancel',
  discard: 'Delete',
  send: 'Send',
  sending: 'Sending...',
  sendAgain: 'Send again',
  recorded: (time: string) => `Recorded, ${time}`,
  limit: 'The recording was stopped after two minutes. It is not sent yet.',
  hidden: 'The recording stopped when you left this page. It is not sent yet.',
  interrupted: 'The recording stopped, because something else took the microphone. It is not sent yet.',
  denied: `${companion} may not use the microphone. Allow it in the settings of your browser and your device, then try again.`,
  missing: 'No microphone was found.',
  busy: 'The microphone is busy in another app. Close it and try again.',
  unsupported: 'This browser cannot record. Please write instead.',
  silent: 'Nothing was recorded. Is the microphone muted?',
  notInPlan: 'Voice messages are part of the Basic plan and above.',
  play: (time: string) => `Play voice message, ${time}`,
  pause: 'Pause',
  loading: 'Loading...',
  position: 'Position',
  at: (position: string, total: string) => `${position} of ${total}`,
  speed: (speed: number) => `Speed ${speed}`,
  cannotPlay: 'This recording cannot be played here.',
} as const;
