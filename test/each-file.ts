// This file runs before each test file. What it imports is loaded once per process, with the schemas compiled so far.
import './support/answers.ts'
