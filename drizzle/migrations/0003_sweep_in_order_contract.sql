DROP INDEX `bot_calls_age`;--> statement-breakpoint
DROP INDEX `hits_age`;--> statement-breakpoint
DROP INDEX `sessions_expiry`;--> statement-breakpoint
DROP INDEX `stripe_events_age`;