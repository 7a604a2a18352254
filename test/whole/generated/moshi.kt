fun configure() {}
