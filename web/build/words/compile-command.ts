import { compileWords } from './compile.ts';

compileWords('en', 'en');
