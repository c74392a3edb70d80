import { runCommand } from './command.ts';
import { startLiveProduct } from './live/start-live-product.ts';

await runCommand('dev', startLiveProduct);
