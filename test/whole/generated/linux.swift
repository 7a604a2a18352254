// Stands in for Apple's module MobileCoreServices, which the generated client imports on Linux too. Its functions
// are never called there.
@_exported import FoundationNetworking
import Foundation

public let kUTTagClassFilenameExtension = ""
public let kUTTagClassMIMEType = ""

public func UTTypeCreatePreferredIdentifierForTag(_: String, _: NSString, _: NSString?) -> Unmanaged<NSString>? { nil }
public func UTTypeCopyPreferredTagWithClass(_: NSString, _: String) -> Unmanaged<NSString>? { nil }
