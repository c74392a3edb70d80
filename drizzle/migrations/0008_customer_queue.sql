ALTER TABLE `customers` ADD `asked_at` integer;--> statement-breakpoint
ALTER TABLE `customers` ADD `attempt` integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE `customers` ADD `due_at` integer DEFAULT 0;--> statement-breakpoint
ALTER TABLE `customers` ADD `failures` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX `customers_due` ON `customers` (`due_at`);