DROP INDEX `customers_dirty`;--> statement-breakpoint
DROP INDEX `customers_unanswered`;--> statement-breakpoint
DROP INDEX `customers_age`;--> statement-breakpoint
DROP INDEX `users_billing_watch`;