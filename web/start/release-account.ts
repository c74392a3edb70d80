import { releaseApp } from './release-app.ts';

// The shell of the account shows no data before the app starts.
void releaseApp(Promise.resolve());
