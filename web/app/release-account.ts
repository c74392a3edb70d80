import { releaseApp } from './release-app.ts';

// The shell shows no data before the app.
void releaseApp(Promise.resolve());
