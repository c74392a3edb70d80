import { startApp } from './start-shell.ts';

// The shell of the account shows no data before the app.
void startApp(Promise.resolve());
