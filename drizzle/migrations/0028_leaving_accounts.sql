ALTER TABLE `customers` ADD `leaving_at` integer;--> statement-breakpoint
CREATE INDEX `customers_leaving` ON `customers` (`leaving_at`) WHERE leaving_at is not null;