"""The nouns of the scheduler: objects, quantities, resources, tasks, jobs, nodes, queues."""
