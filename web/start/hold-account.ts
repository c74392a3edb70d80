import { holdApp } from './hold-app.ts';

// The shell of the account shows no data before the app starts.
holdApp(Promise.resolve());
