-- The messages that a reply answers, as a list of their numbers, where no run tells it.
ALTER TABLE outbox ADD COLUMN answers TEXT;
