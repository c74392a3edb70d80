DROP TRIGGER `outbox_user_of_phone`;--> statement-breakpoint
DROP INDEX `outbox_phone`;
