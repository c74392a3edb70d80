import { runCommand } from './command.ts';
import { startProduct } from './start-product.ts';

await runCommand('preview', startProduct);
