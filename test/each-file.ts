// This file runs before each test file. Its import is loaded once per process and keeps its compiled schemas.
import './support/answers.ts'
