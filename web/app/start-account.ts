import { startApp } from './start-shell.ts';

// The shell shows no data before the app.
void startApp(Promise.resolve());
